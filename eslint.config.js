// Checks of the page's scripts and their tests; the page itself needs no Node.
import js from '@eslint/js';
import globals from 'globals';

export default [
  { ignores: ['node_modules/', '.venv*/', '**/*.py'] },
  js.configs.recommended,
  {
    files: ['sdtps/web/static/js/**/*.js'],
    languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals: globals.browser },
    rules: {
      complexity: ['error', 12],
      eqeqeq: 'error',
      'max-len': ['error', 150],
      'max-lines': ['error', 300],
      'max-lines-per-function': ['error', { max: 80 }],
      'no-restricted-globals': ['error', 'event', 'name'],
      'no-shadow': ['error', { hoist: 'functions' }],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-use-before-define': ['error', { functions: false, variables: false }],
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['tests/**/*.js', 'eslint.config.js'],
    languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals: globals.node },
    rules: { 'max-lines-per-function': ['error', { max: 80 }], 'no-unused-vars': 'error' },
  },
];
