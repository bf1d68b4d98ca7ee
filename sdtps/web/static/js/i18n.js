// Texts in the reader's language. Elements name their text by `data-t`, their label by `data-t-aria`.

function chooseLanguage(texts, asked) {
  const wanted = [asked, ...(navigator.languages || [navigator.language])].filter(Boolean);
  for (const language of wanted) {
    const short = language.toLowerCase().split('-')[0];
    if (texts[short]) return short;
  }
  return 'en';
}

// `{name}` and, for numbers, `{name:.2f}` or `{name:.6g}` as in Python.
function fillTemplate(template, values) {
  return template.replace(/\{(\w+)(?::\.(\d)([fg]))?\}/g, (whole, name, digits, kind) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (!kind || typeof value !== 'number') return String(value);
    return kind === 'f' ? value.toFixed(digits) : String(Number(value.toPrecision(digits)));
  });
}

function makeTranslator(texts, language) {
  const listeners = [];
  const self = {
    language,
    t(key, values = {}) {
      const template = texts[self.language][key] ?? texts.en[key] ?? key;
      return fillTemplate(template, values);
    },
    has: (key) => key in texts[self.language],
    // A sentence of the server: its own English, or the translation of its code.
    sentence(note) {
      if (self.language === 'en' || !note.code || !self.has(`note.${note.code}`)) return note.text;
      const values = {};
      for (const [name, value] of Object.entries(note.values)) {
        values[name] = value && typeof value === 'object' ? self.sentence(value) : value;
      }
      return self.t(`note.${note.code}`, values);
    },
    apply(root) {
      for (const node of root.querySelectorAll('[data-t]')) node.textContent = self.t(node.dataset.t);
      for (const node of root.querySelectorAll('[data-t-aria]')) node.setAttribute('aria-label', self.t(node.dataset.tAria));
      for (const node of root.querySelectorAll('[data-t-title]')) node.title = self.t(node.dataset.tTitle);
    },
    onChange: (listener) => listeners.push(listener),
    use(next) {
      self.language = next;
      listeners.forEach((listener) => listener());
    },
  };
  return self;
}
