// Makes the index from `sections`. The search in site.js divides what a reader types in the same way.
lunr.tokenizer.separator = /[^\p{L}\p{N}_]+/u;
JSON.stringify({
  sections: sections,
  index: lunr(function () {
    this.ref("at");
    this.field("heading", { boost: 8 });
    this.field("page", { boost: 3 });
    this.field("text");
    for (var at = 0; at < sections.length; at++) {
      this.add({ at: at, heading: sections[at].heading, page: sections[at].page, text: sections[at].text });
    }
  })
});
