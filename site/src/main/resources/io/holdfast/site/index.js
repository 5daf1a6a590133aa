// Makes the index from `sections`. The search in site.js divides what a reader types in the same way.
lunr.tokenizer.separator = /[^\p{L}\p{N}_]+/u;
// Pages about the past: readers look for something else first.
var history = /^(CHANGELOG|benchmarks\/results\/|docs\/trust\/records\/|proof\/)/;
JSON.stringify({
  sections: sections,
  index: lunr(function () {
    this.ref("at");
    this.field("heading", { boost: 8 });
    this.field("page", { boost: 3 });
    this.field("text");
    for (var at = 0; at < sections.length; at++) {
      var section = sections[at];
      this.add(
        { at: at, heading: section.heading, page: section.page, text: section.text },
        { boost: history.test(section.address) ? 0.3 : 1 });
    }
  })
});
