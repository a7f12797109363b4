"""The dashboard: a read-only look at a store in a browser, started by `memory_dashboard.server.serve`.

    server -> gate      who may come in
    server -> app       the frame; pages/* its pages, each drawn from a View (view) by a Source (data)
    pages  -> markup    the only maker of HTML, from escaped text

Nothing here is imported by `memory_magic`, and `server` alone may be imported without Panel.
"""
