// Inside Gradio: its queue carries analyses, its server functions carry files and slider moves.

const sheet = document.createElement('style');
sheet.textContent = props.lens_css;
document.head.append(sheet);

// Gradio drops the body of a refused request, which holds the sentence to show; so it is handed on as an answer.
const REFUSALS = [413, 429, 503];
const SIGNED_OUT = { code: 'server.signed_out', values: {}, text: 'You are signed out; reload the page and sign in.' };
const BUSY = { code: 'server.busy', values: {}, text: 'The server is busy; try again in a moment.' };
let lastRefusal = null;
const plainFetch = window.fetch.bind(window);
window.fetch = async (address, options) => {
  const answer = await plainFetch(address, options);
  if (!REFUSALS.includes(answer.status) && answer.status !== 401) return answer;
  const said = answer.status === 401 ? {} : await answer.clone().json().catch(() => ({}));
  lastRefusal = answer.status === 401 ? SIGNED_OUT : said.error || BUSY;
  if (!String(address).includes('/component_server')) return answer;
  return new Response(JSON.stringify({ zone: null, expired: [], error: lastRefusal }), { status: 200 });
};

const waitingAnalyses = new Map();
let analysesAsked = 0;

function settleAnalyses(answerFor) {
  for (const [id, resolve] of waitingAnalyses) {
    const answer = answerFor(id);
    if (answer) {
      waitingAnalyses.delete(id);
      resolve(answer);
    }
  }
}

watch('value', () => {
  const answer = JSON.parse(props.value);
  settleAnalyses((id) => (String(id) === answer.id ? answer : null));
});
window.addEventListener('lens-analyse-failed', () => {
  settleAnalyses(() => ({ error: lastRefusal || BUSY }));
  lastRefusal = null;
});

mountLens(element.querySelector('.lens-root'), props.lens_config, {
  stage: (file, slot) => server.stage({ binary: true, data: { slot, file } }),
  uploadWeights: (file, insist) => server.upload_weights({ binary: true, data: { insist, file } }),
  decide: (request) => server.decide(request),
  ask: (task, fields) => server.ask({ ...fields, task }),
  analyse: (request) => new Promise((resolve) => {
    analysesAsked += 1;
    waitingAnalyses.set(analysesAsked, resolve);
    trigger('analyse', { id: analysesAsked, request });
  }),
});
