"""What is wrong with challenges in tool results, and with security schemes."""
