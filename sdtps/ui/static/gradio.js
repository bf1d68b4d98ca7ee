// Inside Gradio: its queue carries analyses, its server functions carry files and slider moves.

const sheet = document.createElement('style');
sheet.textContent = props.lens_css;
document.head.append(sheet);

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
window.addEventListener('lens-analyse-failed', () => settleAnalyses(() => ({
  error: { code: 'server.busy', values: {}, text: 'The server is busy; try again in a moment.' },
})));

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
