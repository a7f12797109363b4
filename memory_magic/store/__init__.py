"""The Markdown truth: scopes, notes, journal, files, index. `store.Store` is the door for every other room."""
