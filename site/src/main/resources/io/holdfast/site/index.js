// Makes the index from `sections`. search.js divides what a reader types in the same way.
function words(text) {
  return text.split(/[^\p{L}\p{N}_]+/u).filter(word => word);
}

// lunr's own stemmer, asked once for each word.
const stems = new Map();
function stemmer(token) {
  return token.update(word => {
    if (!stems.has(word)) stems.set(word, lunr.stemmer(new lunr.Token(word)).toString());
    return stems.get(word);
  });
}
lunr.Pipeline.registerFunction(stemmer, "stemmer");

// Pages about the past: readers look for something else first.
const history = /^(CHANGELOG|benchmarks\/results\/|docs\/trust\/records\/|proof\/)/;

JSON.stringify({
  sections: sections.map(({ address, page, heading, text, about, isPage }) => ({ address, page, heading, text, about, isPage })),
  index: lunr(function () {
    this.ref("at");
    this.field("about", { boost: 10 });
    this.field("heading", { boost: 8 });
    this.field("names", { boost: 8 });
    this.field("page", { boost: 3 });
    this.field("text");
    this.pipeline.reset();
    this.pipeline.add(lunr.stopWordFilter, stemmer);
    sections.forEach((section, at) => {
      const about = { at: at };
      ["about", "heading", "names", "page", "text"].forEach(field => (about[field] = words(section[field])));
      this.add(about, { boost: history.test(section.address) ? 0.3 : 1 });
    });
  })
});
