// Finds the sections for what a reader types. It is loaded with the index. The tests run it without a browser.
var holdfastFind = (function () {
  "use strict";

  // Readers of these want to check or to change the library, or all pages. Others want to use it.
  const last = /^(CHANGELOG|CONTRIBUTING|benchmarks\/|docs\/contribute\/|docs\/index|docs\/trust\/|proof\/)/;

  const stem = word => lunr.stemmer(new lunr.Token(word)).toString();

  // As index.js divides a text, without the words that lunr leaves out of an index.
  function words(text) {
    return text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(word => word && lunr.stopWordFilter(new lunr.Token(word)));
  }

  // A word may be the beginning of one. A number or a letter may not.
  const isWhole = word => word.length < 2 || /^\d+$/.test(word);

  // Whether a word of a text is what the reader typed.
  function matches(word, typed) {
    return typed.some(it => word === it || (!isWhole(it) && (word.startsWith(it) || stem(word) === stem(it))));
  }

  // Sections that have each word.
  function exactly(index, typed) {
    const all = index.query(query => {
      typed.forEach(word => {
        query.term(stem(word), { boost: 10, usePipeline: false });
        if (!isWhole(word)) query.term(word, { boost: 2, usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING });
      });
    });
    return all.filter(match => {
      const terms = Object.keys(match.matchData.metadata);
      return typed.every(word => terms.some(term => term === stem(word) || (!isWhole(word) && term.startsWith(word))));
    });
  }

  // Sections that have one of the words, perhaps with one other letter.
  function nearly(index, typed) {
    return index.query(query => {
      typed
        .filter(it => it.length > 3)
        .forEach(word => { query.term(stem(word), { usePipeline: false, editDistance: 1 }); });
    });
  }

  // The beginnings of pages that are about all of it come first.
  function find(index, sections, text) {
    const typed = words(text);
    if (!typed.length) return [];
    const exact = exactly(index, typed);
    const found = (exact.length ? exact : nearly(index, typed)).map(match => sections[match.ref]);
    const isAbout = it => {
      const about = it.isPage ? words(it.page + " " + it.about) : [];
      return typed.every(word => about.some(other => matches(other, [word])));
    };
    const rank = it => (last.test(it.address) ? 2 : isAbout(it) ? 0 : 1);
    return [0, 1, 2].reduce((all, it) => all.concat(found.filter(section => rank(section) === it)), []);
  }

  return { find, matches, words };
})();
