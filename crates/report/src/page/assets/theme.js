// Light and dark: as the system has it, until the button is pressed.
"use strict";

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", theme === "dark" ? "Light colours" : "Dark colours");
  redrawAll();
}

function startTheme() {
  let chosen = null;
  setTheme(systemDark.matches ? "dark" : "light");
  systemDark.addEventListener("change", () => chosen ?? setTheme(systemDark.matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    setTheme(chosen);
  });
  // Paper is white. The canvases are drawn for it, and back again.
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    setTheme("light");
  });
  window.addEventListener("afterprint", () => before && setTheme(before));
}
