/** Comments, strings, regular expressions, words, and every other character that is not white space. */
const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/(?:[^/\\\n]|\\.)+\/|[\p{ID_Continue}$]+|\S/gu;

/**
 * Generated TypeScript as lines that are the same whatever formatter the file went through: one for each property and
 * each statement, with single quotes and without the commas that a formatter adds. Without comments.
 */
export function linesOfCode(source: string): string[] {
  const tokens = tokensOf(source).filter((token) => !isComment(token));
  const lines: string[] = [];
  const open: string[] = [];
  let line: string[] = [];
  const endLine = (...last: string[]) => {
    line.push(...last);
    if (line.length > 0) lines.push(spaced(line));
    line = [];
  };
  tokens.forEach((token, at) => {
    const inObject = open.at(-1) === '{';
    if (token === ',' && /^[)\]}]$/.test(tokens[at + 1] ?? '')) return;
    if (token === '}' && line.length > 0) endLine(',');
    line.push(token);
    if (/^[([{]$/.test(token)) open.push(token);
    if (/^[)\]}]$/.test(token)) open.pop();
    if (token === '{' || token === ';' || (token === ',' && inObject)) endLine();
  });
  endLine();
  return lines;
}

/** Everything that a person could have changed in a generated file: its code and its comments. */
export function contentOf(source: string): string {
  const comments = tokensOf(source).filter(isComment);
  return [...linesOfCode(source), ...comments].join('\n');
}

function tokensOf(source: string): string[] {
  return Array.from(source.matchAll(TOKEN), ([token]) => {
    if (isComment(token)) return token.replaceAll(/\s+/g, ' ').trim();
    return /^['"]/.test(token) ? singleQuoted(token.slice(1, -1)) : token;
  });
}

function isComment(token: string): boolean {
  return /^\/[/*]/.test(token);
}

function singleQuoted(inner: string): string {
  return `'${inner.replaceAll(/\\(["'])|'/g, (_, quote) => (quote === '"' ? '"' : "\\'"))}'`;
}

function spaced(tokens: readonly string[]): string {
  return tokens.reduce((text, token) => {
    const separates = /[:,=]$/.test(text) || token === '=' || (/[\w$]$/.test(text) && /^[\w$]/.test(token));
    return `${text}${separates ? ' ' : ''}${token}`;
  });
}
