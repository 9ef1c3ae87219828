"""`python -m mcp_auth_contract`."""

import sys

from mcp_auth_contract.cli import main

if __name__ == "__main__":
    sys.exit(main())
