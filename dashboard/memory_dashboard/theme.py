"""Colours, type and spacing of the dashboard, each said once.

Colours are CSS variables set at the page's root for the light and the dark face. Variables reach through every shadow
root, so each style sheet below names variables only and follows the theme switch at once. Values are those of the
mock-ups (contrast of all text checked at 4.5 : 1 or more on its ground).
"""

from __future__ import annotations

from typing import Any

ACCENT = "#0b6470"
ACCENT_DARK = "#63cad2"
# Below this width the drawer folds away, rows become cards and the detail covers the page.
NARROW = 900
# Below this one the detail takes the place of the table instead of standing beside it.
ROOMY = 1150

_LIGHT = {
    "--mm-ground": "#f4f6f8",
    "--mm-card": "#ffffff",
    "--mm-sunk": "#f8fafb",
    "--mm-text": "#16202b",
    "--mm-soft": "#4c5a69",
    "--mm-line": "#d8dfe6",
    "--mm-accent": ACCENT,
    "--mm-tint": "#e3f1f2",
    "--mm-hover": "#f1f5f7",
    "--mm-good": "#0b6b3a",
    "--mm-good-tint": "#e2f3e8",
    "--mm-good-mark": "#a9d9ba",
    "--mm-bad": "#a3161f",
    "--mm-bad-tint": "#fde9ea",
    "--mm-bad-mark": "#f3b4b8",
    "--mm-warn": "#7a4a00",
    "--mm-warn-tint": "#fdf2d9",
}
_DARK = {
    "--mm-ground": "#0f1419",
    "--mm-card": "#171d24",
    "--mm-sunk": "#12181e",
    "--mm-text": "#e8edf2",
    "--mm-soft": "#a9b5c1",
    "--mm-line": "#303a45",
    "--mm-accent": ACCENT_DARK,
    "--mm-tint": "#17343a",
    "--mm-hover": "#1d252d",
    "--mm-good": "#7fd6a0",
    "--mm-good-tint": "#15301f",
    "--mm-good-mark": "#2b6a43",
    "--mm-bad": "#ff9a9f",
    "--mm-bad-tint": "#3b1b1e",
    "--mm-bad-mark": "#7c3338",
    "--mm-warn": "#f2c46b",
    "--mm-warn-tint": "#33280f",
}
_SANS = "Roboto, 'Noto Sans', 'Noto Sans Devanagari', 'Noto Sans CJK SC', sans-serif"
_MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_FRAME = {
    "font-size": "13px",
    "& .header": {
        "backgroundColor": "var(--mm-card)",
        "backgroundImage": "none",
        "color": "var(--mm-text)",
        "boxShadow": "none",
        "borderBottom": "1px solid var(--mm-line)",
    },
    "& .header .MuiToolbar-root": {"minHeight": "52px", "gap": "12px", "paddingLeft": "20px", "paddingRight": "16px"},
    "& .header .title": {"color": "var(--mm-text)", "fontSize": "17px", "fontWeight": 700},
    "& .header .logo": {"height": "24px !important"},
    # the narrow header has no room for the wide one's gaps
    f"@media (max-width: {NARROW}px)": {
        "& .header .MuiToolbar-root": {"gap": "4px", "paddingLeft": "12px", "paddingRight": "4px"},
        "& .header .MuiToolbar-root > button:first-of-type": {"marginRight": "0"},
    },
    "& .header .MuiLinearProgress-root": {"display": "none"},
    "& .main": {"backgroundColor": "var(--mm-ground)", "minWidth": 0},
    "& .main > .MuiBox-root > .MuiToolbar-root": {"minHeight": "52px", "margin": 0},
    "& .sidebar": {"backgroundColor": "var(--mm-card)", "borderRight": "1px solid var(--mm-line)"},
    "& .sidebar > .MuiToolbar-root": {"minHeight": "52px", "margin": 0},
}
PAGE_SX: dict[str, Any] = {"&.mui-light": _LIGHT, "&.mui-dark": _DARK, **_FRAME}
# A temporary drawer is drawn outside the page's root, where its variables do not reach.
DOCUMENT_CSS = (
    ":root{" + "".join(f"{name}:{value};" for name, value in _LIGHT.items()) + "}"
    "html.dark, .mui-dark{" + "".join(f"{name}:{value};" for name, value in _DARK.items()) + "}"
    "body{background:var(--mm-ground)}"
)
THEME_CONFIG = {
    "light": {"palette": {"primary": {"main": ACCENT}, "background": {"paper": "#ffffff", "default": "#f4f6f8"}}},
    "dark": {"palette": {"primary": {"main": ACCENT_DARK}, "background": {"paper": "#171d24", "default": "#0f1419"}}},
}

# For every pane of our own markup.
TEXT_CSS = f"""
:host {{ color: var(--mm-text); font: 400 13px/1.45 {_SANS}; margin: 0; }}
h1 {{ font-size: 20px; line-height: 26px; font-weight: 700; margin: 0; }}
h2 {{ font-size: 16px; line-height: 22px; font-weight: 700; margin: 0; overflow-wrap: anywhere; unicode-bidi: plaintext;
  white-space: pre-wrap; text-align: start; }}
p {{ margin: 0; }}
a {{ color: var(--mm-accent); text-decoration: none; }}
a:hover {{ text-decoration: underline; }}
a:focus-visible {{ outline: 2px solid var(--mm-accent); outline-offset: 2px; border-radius: 3px; }}
code, .mono {{ font-family: {_MONO}; font-size: 11.5px; overflow-wrap: anywhere; }}
.soft {{ color: var(--mm-soft); }}
.small {{ font-size: 12px; }}
.text {{ unicode-bidi: plaintext; text-align: start; overflow-wrap: anywhere; white-space: pre-wrap; }}
.good {{ color: var(--mm-good); }}
.bad {{ color: var(--mm-bad); }}
.warn {{ color: var(--mm-warn); }}
.icon {{ font-family: 'Material Icons Outlined'; font-size: 16px; line-height: 1; vertical-align: -3px;
  text-transform: none; letter-spacing: normal; white-space: nowrap; font-feature-settings: 'liga'; }}
.caps {{ font-size: 11px; font-weight: 700; letter-spacing: .06em; text-transform: uppercase; color: var(--mm-soft); }}
.chip {{ display: inline-block; border: 1px solid var(--mm-line); border-radius: 999px; padding: 2px 10px;
  font-size: 12px; line-height: 18px; max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  box-sizing: border-box; vertical-align: middle; }}
.chip.on {{ background: var(--mm-tint); color: var(--mm-accent); border-color: transparent; }}
.badge {{ display: inline-flex; align-items: center; gap: 6px; border: 1px solid var(--mm-line); border-radius: 8px;
  padding: 0 10px; height: 30px; font-size: 12.5px; white-space: nowrap; box-sizing: border-box; }}
.badge.ok {{ background: var(--mm-good-tint); color: var(--mm-good); border-color: var(--mm-good-mark); }}
.badge.no {{ background: var(--mm-bad-tint); color: var(--mm-bad); border-color: var(--mm-bad-mark); }}
.dot {{ width: 8px; height: 8px; border-radius: 50%; background: var(--mm-good); display: inline-block; }}
kbd {{ font: 11px {_MONO}; border: 1px solid var(--mm-line); border-bottom-width: 2px; border-radius: 4px;
  padding: 0 5px; }}
ins {{ background: var(--mm-good-mark); text-decoration: underline; border-radius: 2px; }}
del {{ background: var(--mm-bad-mark); text-decoration: line-through; border-radius: 2px; }}
"""
CARD_CSS = """
:host { background: var(--mm-card); border: 1px solid var(--mm-line); border-radius: 8px; margin: 0;
  box-sizing: border-box; overflow: hidden; }
"""
_SHEET = f"@media (max-width: {NARROW}px)"
# Here head and rows share out the width by the same rules: Tabulator's own sums are stale while a detail opens.
_BESIDE = f"@media (min-width: {NARROW + 1}px)"
_BETWEEN = f"@media (min-width: {NARROW + 1}px) and (max-width: {ROOMY}px)"
# The table grows with its rows; this box scrolls, so that head and pager stay in sight.
SCROLL_CSS = f"""
:host {{ overflow: auto; max-height: calc(100vh - 240px); }}
{_SHEET} {{ :host {{ max-height: none; overflow: visible; }} }}
"""
SPLIT_CSS = f"""
:host {{ display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px; margin: 0; align-items: start; }}
:host(.open) {{ grid-template-columns: minmax(0, 1fr) clamp(340px, 30vw, 440px); }}
@media (max-width: {ROOMY}px) {{
  :host(.open) {{ grid-template-columns: minmax(0, 1fr); }}
  :host(.open) .list {{ display: none; }}
}}
"""
DETAIL_CSS = f"""
:host {{ max-height: calc(100vh - 134px); overflow: auto; }}
{_SHEET} {{ :host {{ position: fixed; inset: 53px 0 0 0; z-index: 1100; max-height: none; border-radius: 0;
  border-width: 0; width: 100% !important; height: calc(100dvh - 53px) !important; overscroll-behavior: contain; }} }}
"""
BODY_CSS = f"""
:host {{ padding: 14px 18px 18px; margin: 0; box-sizing: border-box; gap: 10px; }}
{_SHEET} {{ :host {{ padding: 12px; }} }}
"""
WIDE_ONLY_CSS = f"{_SHEET} {{ :host {{ display: none !important; }} }}"
NARROW_ONLY_CSS = f"@media (min-width: {NARROW + 1}px) {{ :host {{ display: none !important; }} }}"

# Never name a hidden column here: a forced display would show it again.
_FIELDS = ", ".join(
    f"[tabulator-field={name}]" for name in ("id", "note", "scope", "state", "age", "by", "n", "time", "action", "what")
)
# Panel's own sheet names its rows at this length; a shorter name would lose against it.
_ROW = ".pnx-tabulator.tabulator .tabulator-tableholder .tabulator-table .tabulator-row"
_HEAD = ".pnx-tabulator.tabulator .tabulator-header"
# Tabulator hears clicks on cells only: an empty layer of the main cell lies over its row, gaps included.
TABLE_CSS = f"""
:host {{ margin: 0; }}
.tabulator {{ background: transparent; border: 0; font: 400 13px/19px {_SANS};
  color: var(--mm-text); overflow: visible; }}
.tabulator .tabulator-tableholder {{ overflow: visible !important; height: auto !important;
  max-height: none !important; }}
.tabulator .tabulator-tableholder .tabulator-table {{ background: transparent; color: var(--mm-text); width: 100%; }}
{_HEAD} {{ position: sticky; top: 0; z-index: 2; background: var(--mm-sunk); color: var(--mm-soft);
  border-bottom: 1px solid var(--mm-line); font-size: 12px; font-weight: 700; }}
{_HEAD} .tabulator-col, {_HEAD} .tabulator-col:hover {{ background: var(--mm-sunk);
  border: 0; color: var(--mm-soft); }}
{_HEAD} .tabulator-col .tabulator-col-content {{ padding: 7px 12px; }}
{_HEAD} .tabulator-col .tabulator-col-title {{ font-size: 12px; }}
{_ROW}:is(.tabulator-row-even, .tabulator-row-odd) {{
  background: var(--mm-card); color: var(--mm-text);
  border: 0; border-bottom: 1px solid var(--mm-line); height: auto !important; min-height: 49px; display: flex;
  align-items: center; padding: 5px 0; cursor: pointer; width: 100%; box-sizing: border-box; }}
{_ROW}.tabulator-selectable:hover {{ background: var(--mm-hover); color: var(--mm-text); }}
{_ROW}.tabulator-selected, {_ROW}.tabulator-selected:hover,
{_ROW}.tabulator-row.tabulator-selected.tabulator-selectable:hover {{
  background: var(--mm-tint); color: var(--mm-text); box-shadow: inset 3px 0 0 var(--mm-accent); }}
{_ROW} .tabulator-cell {{ border: 0; padding: 0 12px; height: auto !important; font-size: 13px;
  line-height: 19px; box-sizing: border-box; unicode-bidi: plaintext; text-align: start; overflow: hidden;
  overflow-wrap: anywhere; white-space: normal !important; min-height: 0; }}
{_ROW} .tabulator-cell:is({_FIELDS}):not([style*="display: none"]) {{ display: -webkit-box;
  -webkit-box-orient: vertical; -webkit-line-clamp: 2; max-height: 38px; }}
{_ROW} .tabulator-cell:is([tabulator-field=id], [tabulator-field=n]) {{ font-family: {_MONO};
  font-size: 11.5px; color: var(--mm-accent); white-space: nowrap !important; }}
{_ROW} .tabulator-cell:is([tabulator-field=scope], [tabulator-field=by], [tabulator-field=age],
  [tabulator-field=time]) {{ color: var(--mm-soft); font-size: 12px; }}
{_ROW} .tabulator-cell:is([tabulator-field=age], [tabulator-field=time], [tabulator-field=state],
  [tabulator-field=action]) {{ white-space: nowrap !important; }}
{_ROW} .tabulator-cell[tabulator-field=action] {{ font-weight: 500; }}
{_ROW} .tabulator-cell:is([tabulator-field=note], [tabulator-field=what]) {{ position: static; }}
{_ROW} .tabulator-cell:is([tabulator-field=note], [tabulator-field=what])::after {{ content: ""; position: absolute;
  inset: 0; }}
{_BETWEEN} {{
  .tabulator [tabulator-field=scope], .tabulator [tabulator-field=by] {{ display: none !important; }}
}}
{_BESIDE} {{
  {_HEAD} :is(.tabulator-header-contents, .tabulator-headers) {{ display: flex !important;
    flex: 1; min-width: 100% !important; }}
  .tabulator [tabulator-field] {{ flex: none; }}
  .tabulator :is([tabulator-field=note], [tabulator-field=what]) {{ flex: 1 1 0;
    width: auto !important; min-width: 0; }}
}}
{_SHEET} {{
  {_HEAD} {{ display: none; }}
  .tabulator, .tabulator .tabulator-tableholder, .tabulator .tabulator-table {{ width: 100% !important;
    min-width: 0 !important; }}
  {_ROW}:is(.tabulator-row-even, .tabulator-row-odd) {{ flex-wrap: wrap; gap: 2px 10px;
    padding: 10px 14px; align-items: baseline; }}
  {_ROW} .tabulator-cell {{ width: auto !important; min-width: 0 !important; max-width: 100%; padding: 0;
    flex: 0 1 auto; }}
  {_ROW} .tabulator-cell:is([tabulator-field=note], [tabulator-field=what]) {{ order: -1; flex: 1 0 100%;
    width: 100% !important; font-size: 14px; }}
  {_ROW} .tabulator-cell:is([tabulator-field=age], [tabulator-field=time]) {{ margin-left: auto; order: 2; }}
  {_ROW} .tabulator-cell:is([tabulator-field=scope], [tabulator-field=by]):not([style*="display: none"]) {{
    display: block; white-space: nowrap !important; text-overflow: ellipsis; max-width: 60%; }}
  {_ROW} .tabulator-cell.empty {{ display: none !important; }}
}}
"""
DETAIL_TEXT_CSS = """
:host { display: block; }
section { padding: 12px 16px; border-top: 1px solid var(--mm-line); }
section:first-child { border-top: 0; }
section > .caps { display: block; margin-bottom: 8px; }
dl { display: grid; grid-template-columns: 88px minmax(0, 1fr); gap: 5px 10px; margin: 0; }
dt { color: var(--mm-soft); }
dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; text-align: start; white-space: pre-wrap; }
.chips { display: flex; gap: 6px; flex-wrap: wrap; margin-bottom: 8px; }
.body { font-size: 15px; line-height: 22px; font-weight: 500; }
.diff { border: 1px solid var(--mm-line); border-radius: 8px; overflow: hidden; margin-top: 8px; }
.diff > div { display: grid; grid-template-columns: 20px minmax(0, 1fr); padding: 5px 10px; }
.diff .old { background: var(--mm-bad-tint); }
.diff .new { background: var(--mm-good-tint); }
.alarm { background: var(--mm-warn-tint); color: var(--mm-warn); display: grid; gap: 6px; }
.alarm code { color: var(--mm-text); }
ol { list-style: none; margin: 0; padding: 0; display: grid; gap: 6px; }
li { display: grid; grid-template-columns: 96px 96px minmax(0, 1fr); gap: 8px; font-size: 12px; }
"""
STATUS_CSS = f"""
:host {{ margin-left: auto; flex: none; }}
.status {{ display: flex; gap: 8px; margin-left: 12px; }}
@media (max-width: {ROOMY}px) {{ .seen {{ display: none; }} }}
{_SHEET} {{ .status {{ margin-left: 0; }} .badge {{ padding: 0 8px; }} }}
"""
FOOT_CSS = """
:host { padding: 12px 16px 16px; border-top: 1px solid var(--mm-line); box-sizing: border-box; font-size: 12px;
  margin-top: auto; }
.keys { white-space: nowrap; font-size: 11px; }
kbd { padding: 0 4px; margin-right: 1px; }
:host > div { display: grid; gap: 12px; }
"""
CONTROLS_CSS = f"""
:host {{ gap: 10px; align-items: center; }}
{_SHEET} {{ :host {{ display: grid !important; grid-template-columns: minmax(0, 1fr); gap: 8px; flex: none !important;
  height: auto !important; min-height: 76px; }} }}
"""
# MUI hides a placeholder while its label rests in the field; here the label is for screen readers only.
CONTROL_CSS = """
:host { min-height: 34px; }
.MuiMenu-paper { background: var(--mm-card) !important; color: var(--mm-text) !important;
  border: 1px solid var(--mm-line); }
.MuiMenu-paper .MuiListItemText-primary { font-size: 13px; }
.MuiMenu-paper .MuiMenuItem-root:hover, .MuiMenu-paper .MuiMenuItem-root:focus-visible {
  background: var(--mm-tint) !important; }
label.MuiInputLabel-root { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.MuiFormControl-root label.MuiInputLabel-root + .MuiInputBase-root.MuiInputBase-formControl
  input.MuiInputBase-input::placeholder { opacity: 1 !important; color: var(--mm-soft); }
"""
PAGER_CSS = ":host { border-top: 1px solid var(--mm-line); box-sizing: border-box; padding: 6px 10px; }"
_INPUT = {
    "fontSize": "13px",
    "color": "var(--mm-text)",
    "backgroundColor": "var(--mm-sunk)",
    "borderRadius": "8px",
    "height": "34px",
}
_EDGE = {"borderColor": "var(--mm-line)", "top": 0}
SELECT_SX = {
    "&.MuiOutlinedInput-root": _INPUT,
    "& .MuiSelect-select": {"color": "var(--mm-text)", "paddingTop": "6px", "paddingBottom": "6px"},
    "& .MuiSelect-icon": {"color": "var(--mm-soft)"},
    "& .MuiOutlinedInput-notchedOutline": _EDGE,
    "& .MuiOutlinedInput-notchedOutline legend": {"display": "none"},
}
SEARCH_SX = {
    "& .MuiOutlinedInput-root": _INPUT,
    "& .MuiInputBase-input": {"color": "var(--mm-text)", "padding": "6px 12px"},
    "& .MuiOutlinedInput-notchedOutline": _EDGE,
    "& .MuiOutlinedInput-notchedOutline legend": {"display": "none"},
}
MENU_SX = {
    "padding": "8px 8px 8px 0",
    "& > .MuiListItemButton-root": {"borderRadius": "0 8px 8px 0", "minHeight": "36px", "paddingRight": "12px"},
    "& .MuiListItemText-primary": {"fontSize": "13px", "color": "var(--mm-text)"},
    "& .MuiIcon-root": {"fontSize": "18px", "color": "var(--mm-text)"},
    "& .MuiListItemIcon-root": {"minWidth": "32px"},
    "& > .MuiListItemButton-root.Mui-selected": {
        "backgroundColor": "var(--mm-tint)",
        "boxShadow": "inset 4px 0 0 var(--mm-accent)",
    },
    "& > .MuiListItemButton-root.Mui-selected .MuiListItemText-primary": {
        "color": "var(--mm-accent)",
        "fontWeight": 700,
    },
    "& > .MuiListItemButton-root.Mui-selected .MuiIcon-root": {"color": "var(--mm-accent)"},
}
