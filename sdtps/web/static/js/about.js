// Questions about the analysis on screen, for the views that ask them; and numbers as they are written there.

// One question about what is on screen. An open triplet that the server has forgotten is sent again.
async function askAbout(lens, task, fields = {}) {
  const request = aboutShown(lens, fields);
  const answer = (await lens.server.ask(task, request)) || unreachable();
  if (answer.expired && answer.expired.length) lens.analyse();
  return answer;
}

// What a question about the shown analysis names.
function aboutShown(lens, fields = {}) {
  return { key: lens.state.key, settings: lens.current().settings, ...fields };
}

const percent = (value) => `${Math.round(value * 100)} %`;
const orDash = (value, digits = 3) => (value === null || value === undefined ? '–' : value.toFixed(digits));
const signed = (value, digits = 3) => `${value > 0 ? '+' : ''}${value.toFixed(digits).replace('-', '−')}`;
