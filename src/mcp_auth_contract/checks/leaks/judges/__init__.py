"""What holds in every exchange of a run: no secret comes back, and each refusal says what it has to."""
