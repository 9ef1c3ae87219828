"""Every way into the endpoint."""
