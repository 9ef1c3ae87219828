"""Sessions: whom they serve, their ids and their end."""
