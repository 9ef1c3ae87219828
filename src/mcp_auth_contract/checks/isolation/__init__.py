"""Records of one principal in the hands of another."""
