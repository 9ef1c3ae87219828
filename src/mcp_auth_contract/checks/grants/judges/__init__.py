"""Does a real authorization server protect codes, tokens and clients?"""
