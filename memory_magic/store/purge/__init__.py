"""Purge: the store forgets for good, proves it, and keeps what was forgotten from coming back (store_rules 0, 1, 10).

`plan` finds what goes, `intent` keeps it across a crash, `run` carries it out in the one allowed order, `erase`
rewrites the journal, `notes` takes notes out of memory files, `places` knows every part that keeps text, `proof`
searches them afterwards, `tombstones` and `screen` keep purged texts out. Nothing is imported here: the read path
passes `screen` only where a root has tombstones.
"""
