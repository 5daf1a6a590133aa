// Before anything is drawn: the colours that the reader chose, if there is a choice.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("holdfast-theme");
  } catch (e) {
    // The browser keeps nothing for this page. Its own preference holds.
  }
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
})();
