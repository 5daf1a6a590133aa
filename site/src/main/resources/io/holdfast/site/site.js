// The list of versions, the switch of colours, and the search. Everything else on the page works without it.
(function () {
  "use strict";
  const page = document.documentElement;
  const root = page.dataset.root;

  function element(name, text, className) {
    const made = document.createElement(name);
    made.textContent = text || "";
    if (className) made.className = className;
    return made;
  }

  function load(script) {
    const tag = document.createElement("script");
    tag.src = script;
    document.head.append(tag);
    return new Promise((resolve, reject) => {
      tag.onload = resolve;
      tag.onerror = reject;
    });
  }

  // Versions: an old page asks the one list that all versions share.
  window.holdfastVersions = versions => {
    const select = element("select");
    select.setAttribute("aria-label", "Version");
    for (const version of versions) {
      const option = element("option", version);
      option.selected = version === page.dataset.version;
      select.append(option);
    }
    select.addEventListener("change", () => { location.href = root + "../" + select.value + "/index.html"; });
    document.querySelector(".version").replaceChildren(select);
  };
  load(root + "../versions.js");

  // Colours
  const theme = document.querySelector(".theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (page.dataset.theme ? page.dataset.theme === "dark" : dark.matches);
  const nameTheme = () => {
    theme.title = isDark() ? "Light colours" : "Dark colours";
    theme.setAttribute("aria-label", theme.title);
  };
  theme.addEventListener("click", () => {
    page.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("holdfast-theme", page.dataset.theme);
    } catch (e) {
      // The choice holds until the reader leaves the page.
    }
    nameTheme();
  });
  dark.addEventListener("change", nameTheme);
  nameTheme();
  theme.hidden = false;

  // Search
  const box = document.querySelector(".search");
  const input = document.getElementById("search");
  const found = document.getElementById("found");
  let sections = [];
  let index = null;
  let loading = null;
  let selected = -1;

  window.holdfastSearch = data => {
    sections = data.sections;
    index = lunr.Index.load(data.index);
  };

  function prepare() {
    loading = loading || load(root + "lunr.js").then(() => load(root + "search.js")).then(() => load(root + "search-index.js"));
    return loading;
  }

  // Begins shortly before the first word that the reader typed, and marks each of them.
  function excerpt(text, typed) {
    const pieces = text.split(/([\p{L}\p{N}_]+)/u);
    const isMarked = piece => holdfastFind.matches(piece.toLowerCase(), typed);
    const first = Math.max(0, pieces.findIndex((piece, at) => at % 2 === 1 && isMarked(piece)));
    let start = first;
    for (let length = 0; start > 0 && length < 50; start--) length += pieces[start].length;
    const line = element("span", start ? "… " : "", "excerpt");
    let length = 0;
    let at = start;
    for (; at < pieces.length && length < 160; at++) {
      length += pieces[at].length;
      line.append(at % 2 === 1 && isMarked(pieces[at]) ? element("mark", pieces[at]) : pieces[at]);
    }
    if (at < pieces.length) line.append(" …");
    return line;
  }

  function entry(section, at, typed) {
    const link = element("a");
    link.href = root + section.address;
    link.id = "found-" + at;
    link.setAttribute("role", "option");
    link.tabIndex = -1;
    const title = element("strong", section.heading);
    if (section.heading !== section.page) title.append(" ", element("small", section.page));
    link.append(title, excerpt(section.text, typed));
    return link;
  }

  function choose(at) {
    const links = found.querySelectorAll("a");
    selected = links.length ? (at + links.length) % links.length : -1;
    links.forEach((link, i) => link.setAttribute("aria-selected", String(i === selected)));
    if (selected >= 0) {
      input.setAttribute("aria-activedescendant", links[selected].id);
      links[selected].scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  function close() {
    found.hidden = true;
    input.setAttribute("aria-expanded", "false");
    selected = -1;
  }

  function show() {
    if (!input.value.trim()) return close();
    const typed = holdfastFind.words(input.value);
    const results = holdfastFind.find(index, sections, input.value).slice(0, 12);
    found.replaceChildren(...results.map((section, at) => entry(section, at, typed)));
    if (!results.length) found.append(element("p", "No section has these words."));
    found.hidden = false;
    input.setAttribute("aria-expanded", "true");
    choose(0);
  }

  input.addEventListener("focus", prepare);
  input.addEventListener("input", () => prepare().then(show));
  input.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      close();
      input.blur();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(selected + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && selected >= 0) {
      found.querySelectorAll("a")[selected].click();
    }
  });
  found.addEventListener("click", close);
  document.addEventListener("click", event => { if (!box.contains(event.target)) close(); });
  document.addEventListener("keydown", event => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
  box.hidden = false;

  // A table that is wider than its place says so.
  const tables = new ResizeObserver(entries => entries.forEach(({ target }) => {
    target.classList.toggle("wide", target.scrollWidth > target.clientWidth + 1);
  }));
  document.querySelectorAll(".table").forEach(table => tables.observe(table));

  // The menu shows where the reader is, and the list beside the page which section is on the screen.
  const here = document.querySelector(".menu a[aria-current]");
  if (here) {
    const menu = document.getElementById("menu");
    menu.scrollTop = here.offsetTop - menu.clientHeight / 2;
  }
  const links = new Map([...document.querySelectorAll(".contents a")].map(link => [decodeURIComponent(link.hash.slice(1)), link]));
  const observer = new IntersectionObserver(entries => {
    for (const entry of entries.filter(it => it.isIntersecting)) {
      links.forEach(link => link.removeAttribute("aria-current"));
      links.get(entry.target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-64px 0px -70% 0px" });
  links.forEach((link, id) => observer.observe(document.getElementById(id)));
})();
