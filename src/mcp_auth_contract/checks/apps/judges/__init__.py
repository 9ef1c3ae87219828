"""What is said of Views, and what reaches them."""
