"""The one script of our own in the browser: address bar, keys, and the system's dark setting.

It carries messages and shows nothing. To the server it sends `hello` (with `dark`, what the system or an earlier choice
asks for), `search` after *Back* or a click on a link of ours, and `key` for the keys that mean something. From the
server it takes `address` (write the query string, as a step in the history or in place of the last one) and `theme`
(remember a choice). It loads nothing and evaluates nothing that it receives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from panel.custom import JSComponent

if TYPE_CHECKING:
    from collections.abc import Callable

_SCRIPT = """
const STORE = "memory-magic-theme"

function remembered() {
  try { return window.localStorage.getItem(STORE) } catch { return null }
}

function deepest() {
  let found = document.activeElement
  while (found?.shadowRoot?.activeElement) { found = found.shadowRoot.activeElement }
  return found
}

function search_box(root) {
  for (const element of root.querySelectorAll("*")) {
    if (element.matches("input[placeholder^='Search']") && element.offsetParent !== null) { return element }
    const below = element.shadowRoot ? search_box(element.shadowRoot) : null
    if (below) { return below }
  }
  return null
}

function on_key(model, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) { return }
  const typing = deepest()?.matches?.("input, textarea, select, [contenteditable]")
  if (event.key === "/" && !typing) {
    event.preventDefault()
    search_box(document)?.focus()
  } else if (event.key === "Escape" && typing) {
    deepest().blur()
  } else if (["j", "k", "Escape"].includes(event.key) && !typing) {
    model.send_msg({kind: "key", key: event.key})
  }
}

function on_click(model, event) {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) { return }
  const link = event.composedPath().find((part) => part.matches?.("a[href^='?']"))
  if (!link) { return }
  event.preventDefault()
  const search = link.getAttribute("href")
  window.history.pushState({}, "", search)
  model.send_msg({kind: "search", search})
}

export function render({model, el}) {
  el.style.display = "none"
  const system = window.matchMedia("(prefers-color-scheme: dark)")
  const dark = () => (remembered() ?? (system.matches ? "dark" : "light")) === "dark"
  const pop = () => model.send_msg({kind: "search", search: window.location.search})
  const key = (event) => on_key(model, event)
  const click = (event) => on_click(model, event)
  const narrow = () => window.matchMedia("(max-width: 900px)").matches
  const follow = () => model.send_msg({kind: "hello", dark: dark(), narrow: narrow()})
  window.addEventListener("popstate", pop)
  document.addEventListener("keydown", key)
  document.addEventListener("click", click)
  system.addEventListener("change", follow)
  model.on("msg:custom", (message) => {
    const {kind, search, step, title, dark} = message.data ?? message
    if (kind === "address") {
      document.title = title
      if (search !== window.location.search) {
        window.history[step ? "pushState" : "replaceState"]({}, "", search)
      }
    } else if (kind === "theme") {
      const wanted = dark ? "dark" : "light"
      const natural = system.matches ? "dark" : "light"
      try {
        window.localStorage.removeItem(STORE)
        if (wanted !== natural) { window.localStorage.setItem(STORE, wanted) }
      } catch { /* a browser without storage forgets the choice, nothing else */ }
    }
  })
  model.on("remove", () => {
    window.removeEventListener("popstate", pop)
    document.removeEventListener("keydown", key)
    document.removeEventListener("click", click)
    system.removeEventListener("change", follow)
  })
  follow()
}
"""


class Browser(JSComponent):
    """The window's end of the line; *listener* gets each message as a dict with its `kind`."""

    _esm = _SCRIPT

    def __init__(self, listener: Callable[[dict[str, Any]], None], **params: Any) -> None:
        # It has no place in the layout, not even that of a gap.
        super().__init__(styles={"position": "absolute"}, margin=0, **params)  # type: ignore[no-untyped-call]  # Panel's classes are untyped
        self._listener = listener

    def _handle_msg(self, data: Any) -> None:
        """Pass on what has the form of a message; a window can send anything."""
        if isinstance(data, dict) and isinstance(data.get("kind"), str):
            self._listener(data)

    def address(self, search: str, title: str, *, step: bool) -> None:
        """Write the query string and the window's title."""
        self._send_msg({"kind": "address", "search": search, "title": title, "step": step})

    def remember_theme(self, *, dark: bool) -> None:
        """Keep a choice of light or dark for the next visit of this browser."""
        self._send_msg({"kind": "theme", "dark": dark})
