"""The sample authorization server: sound, or with one fault. It has two clients, one user and no storage."""
