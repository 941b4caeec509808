import { render } from 'preact';
import css from 'window-style';
import { App } from './app.tsx';
import { connect } from './store.ts';

// The policy of the page allows no style sheet of another origin, and this one is part of the script.
const sheet = new CSSStyleSheet();
sheet.replaceSync(css);
document.adoptedStyleSheets = [sheet];

connect();
render(<App />, document.body);
