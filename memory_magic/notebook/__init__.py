"""Memory in IPython and Jupyter: magics, display, quick capture, and where a note was typed."""
