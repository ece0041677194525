// Shows everything, in the order of the page.
"use strict";

function showAll() {
  document.documentElement.dataset.theme ??= "light";
  showSummary();
  showChanges();
  showOverTime();
  showUnits();
  showScatter();
  zoom(...FULL);
  startTheme();
  let resizing = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(redrawAll);
  });
  document.documentElement.dataset.ready = "true";
}
