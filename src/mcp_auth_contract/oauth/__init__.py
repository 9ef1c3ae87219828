"""The words of OAuth on the wire: challenges, metadata locations, identifiers, JSON documents. No network."""
