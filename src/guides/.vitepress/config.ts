import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig, type HeadConfig } from 'vitepress';
import llms from 'vitepress-plugin-llms';
import manifest from '../../../package.json' with { type: 'json' };
import { pages as examples } from '../examples/[name].paths.ts';
import { withPolicy } from './playground/policy.ts';
import { canRun, playgroundSnippets, snippetName } from './playground/snippets.ts';
import { playgroundTypes } from './playground/types.ts';
import typedoc from './typedoc.json' with { type: 'json' };
import { wordsOfGuides } from './words.ts';

/** Where the sources are, if package.json names it: for the link to the repository, edit links and dates. */
const repository = (manifest as { repository?: { url: string } }).repository?.url.replace(
  /^git\+|\.git$/g,
  '',
);

/** Where the site is published, such as https://docs.example.com: for the sitemap and the links in llms.txt. */
const { SITE_URL } = process.env;

const api = new URL('../api/', import.meta.url);

/** The pages of each group of the API reference, functions first. TypeDoc writes them before the site is built. */
function apiGroups(): { readonly text: string; readonly items: { text: string; link: string }[] }[] {
  if (!existsSync(api)) return [];
  const isType = ({ text }: { text: string }) => Number(/^[A-Z]/.test(text));
  return typedoc.categoryOrder.map((group) => {
    const items = readdirSync(new URL(`${group}/`, api)).map((file) => {
      const page = file.replace(/\.md$/, '');
      const name = page === 'types' ? 'Types' : page.replace(/^.*\./, '');
      const text = group === 'Entries' ? page.replaceAll('_', '/') : name;
      return { text, link: `/api/${group}/${page}` };
    });
    return {
      text: group,
      items: items.toSorted(
        (one, other) => isType(one) - isType(other) || one.text.localeCompare(other.text),
      ),
    };
  });
}

/** The sidebar of a group lists its own pages; every other group is one link, so that pages stay small. */
function apiSidebars(): DefaultTheme.SidebarMulti {
  const groups = apiGroups();
  const overview = { text: 'Overview', link: '/api/' };
  const closed = groups.map(({ text, items: [first] }) => ({ text, link: first?.link }));
  const sidebars = groups.map((group, index) => [
    `/api/${group.text}/`,
    [overview, ...closed.with(index, group)],
  ]);
  return { ...Object.fromEntries(sidebars), '/api/': [overview, ...closed] };
}

const guides: DefaultTheme.SidebarItem[] = [
  {
    text: 'Start',
    items: [
      { text: 'First steps', link: '/first-steps' },
      { text: 'The service', link: '/service' },
      { text: 'Runtimes and proxies', link: '/runtimes' },
    ],
  },
  {
    text: 'Use',
    items: [
      { text: 'Reading', link: '/reading' },
      { text: 'Writing and money', link: '/writing' },
      { text: 'Errors', link: '/errors' },
      { text: 'A copy in a database', link: '/copy-in-a-database' },
      { text: 'Syncing to your own store', link: '/syncing' },
      { text: 'Pushing', link: '/pushing' },
    ],
  },
  {
    text: 'Test',
    items: [
      { text: 'Testing', link: '/testing' },
      { text: 'In any language', link: '/any-language' },
      { text: 'Connector tests', link: '/connector-tests' },
      { text: 'The command', link: '/command' },
    ],
  },
  {
    text: 'Run',
    items: [
      { text: 'Rate limits, queues and many companies', link: '/running-at-scale' },
      { text: 'Telemetry', link: '/telemetry' },
      { text: 'Security', link: '/security' },
    ],
  },
  {
    text: 'Why',
    items: [
      { text: 'Why reads are complete', link: '/keyset-pagination' },
      { text: 'Why nothing is created twice', link: '/no-duplicates' },
    ],
  },
  {
    text: 'Reference',
    items: [
      { text: 'Options', link: '/options' },
      { text: 'Reports', link: '/reports' },
      { text: 'Sandbox options', link: '/sandbox-options' },
      { text: 'Product fields', link: '/product-fields' },
      { text: 'Versions', link: '/versioning' },
    ],
  },
];

const exampleItems = examples().map(({ name }) => ({ text: name, link: `/examples/${name}` }));

/** The build of the package: the playground runs what is published. */
const packageAliases = Object.keys(manifest.exports)
  .filter((entry) => entry !== './package.json')
  .map((entry) => {
    const name = entry.replace('.', manifest.name);
    const file = entry === '.' ? 'index' : entry.slice(2);
    return {
      find: new RegExp(`^${name}$`),
      replacement: fileURLToPath(new URL(`../../../dist/${file}.js`, import.meta.url)),
    };
  });

/** Characters of code in a text that fit into a line of a narrow screen beside other words. */
const MAX_SHORT_CODE = 20;

/** A code block without colours. */
function plain(code: string): string {
  return `<pre v-pre><code>${code.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</code></pre>`;
}

export default defineConfig({
  title: 'accounting-data-sdk',
  description: manifest.description,
  lang: 'en',
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/logo.svg' }],
    ['meta', { name: 'theme-color', content: '#0f766e' }],
    ['meta', { property: 'og:type', content: 'website' }],
    ['meta', { property: 'og:site_name', content: manifest.name }],
    ...(SITE_URL === undefined
      ? []
      : [['meta', { property: 'og:image', content: `${SITE_URL}/logo.svg` }] satisfies HeadConfig]),
  ],
  // The title and the description of each page, for links to it.
  transformHead: ({ title, description }): HeadConfig[] => [
    ['meta', { property: 'og:title', content: title }],
    ['meta', { property: 'og:description', content: description }],
  ],
  ...(SITE_URL === undefined ? {} : { sitemap: { hostname: SITE_URL } }),
  rewrites: { 'playground/index.md': 'playground.md' },
  // It is part of a guide.
  srcExclude: ['pictures/*.md'],
  // A program in the playground can send nothing to another host.
  transformHtml: (html, _id, { page }) => (page === 'playground.md' ? withPolicy(html) : undefined),
  buildEnd: () => console.log(wordsOfGuides(new URL('../', import.meta.url))),
  outDir: '../../.generated/docs',
  cacheDir: '../../.generated/vitepress',
  cleanUrls: true,
  lastUpdated: repository !== undefined,
  // The index of the search is one chunk, which is loaded with the first search.
  vite: {
    build: { target: 'es2022', chunkSizeWarningLimit: 9_000 },
    resolve: { alias: packageAliases },
    worker: { format: 'es', plugins: () => [playgroundTypes] },
    plugins: [
      playgroundSnippets,
      llms({
        ...(SITE_URL === undefined ? {} : { domain: SITE_URL }),
        injectLLMHint: false,
        ignoreFiles: ['playground/**'],
        ignoreFilesPerOutput: { llmsTxt: ['api/*/**'], llmsFullTxt: ['api/**'] },
        sidebar: () => [...guides, { text: 'Examples', items: exampleItems }],
      }),
    ],
  },
  themeConfig: {
    logo: '/logo.svg',
    nav: [
      // Active on every guide: they are the pages without a folder.
      { text: 'Guides', link: '/first-steps', activeMatch: '^/(?!index$|playground)[^/]+$' },
      { text: 'API', link: '/api/' },
      { text: 'Examples', link: '/examples/' },
      // A page of its own, with a policy of its own.
      { text: 'Playground', link: '/playground', target: '_self' },
      { text: manifest.version, link: '/changelog/' },
    ],
    sidebar: {
      ...apiSidebars(),
      '/': [
        ...guides,
        {
          text: 'Examples',
          link: '/examples/',
          collapsed: true,
          items: exampleItems,
        },
      ],
    },
    ...(repository === undefined
      ? {}
      : {
          socialLinks: [{ icon: 'github', link: repository }],
          editLink: { pattern: `${repository}/edit/main/src/guides/:path`, text: 'Edit this page' },
        }),
    outline: [2, 3],
    search: {
      provider: 'local',
      // A search for a task should list guides before the types that they name.
      options: {
        miniSearch: {
          searchOptions: {
            combineWith: 'AND',
            fuzzy: 0.1,
            boostDocument: (id: string) => (id.startsWith('/api/') ? 1 : 4),
          },
        },
      },
    },
  },
  markdown: {
    // Colours take a third of the time, and the build without code for browsers is only a check.
    ...(process.argv.includes('--mpa') && { highlight: plain }),
    // On a narrow screen the rest of a line of code is indented as its beginning is.
    codeTransformers: [
      {
        line(node) {
          const [first] = node.children;
          const text = first?.type === 'element' ? first.children[0] : undefined;
          const spaces = text?.type === 'text' ? text.value.search(/\S|$/) : 0;
          if (spaces > 0) node.properties.style = `--indent: ${spaces}ch`;
        },
      },
    ],
    config: (markdown) => {
      // On a narrow screen a table is a list of rows, and each cell has the heading of its column.
      markdown.core.ruler.push('label-cells', ({ tokens }) => {
        let headings: string[] = [];
        let column = 0;
        for (const [index, { type }] of tokens.entries()) {
          if (type === 'thead_open') headings = [];
          if (type === 'th_open') headings.push(tokens[index + 1]?.content ?? '');
          if (type === 'tr_open') column = 0;
          if (type !== 'td_open') continue;
          tokens[index]?.attrSet('data-label', headings[column++] ?? '');
          if (/^–?$/.test(tokens[index + 1]?.content ?? '')) tokens[index]?.attrSet('class', 'empty');
        }
      });
      // A flag such as `--quiet` stays in one line.
      markdown.core.ruler.push('short-code', ({ tokens }) => {
        const code = tokens
          .flatMap(({ children }) => children ?? [])
          .filter(({ type }) => type === 'code_inline');
        for (const token of code) if (token.content.length <= MAX_SHORT_CODE) token.attrSet('class', 'short');
      });
      // A program that runs in a page has a link to the playground beside it.
      const fence = markdown.renderer.rules.fence;
      markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
        const html = fence?.(tokens, index, options, env, self) ?? '';
        const guide = (env as { relativePath?: string }).relativePath ?? '';
        const isProgram = ({ type, info, content }: (typeof tokens)[number]) =>
          type === 'fence' && /^ts\b/.test(info) && canRun(content);
        const token = tokens[index];
        if (guide.includes('/') || token === undefined || !isProgram(token)) return html;
        const name = snippetName(guide, tokens.slice(0, index).filter(isProgram).length);
        return html.replace(
          /<\/div>\s*$/,
          `<a class="run" href="/playground#guide=${name}" target="_self">Run</a></div>`,
        );
      };
      // In the package a guide links to the list of examples, which is all that it has; here each has a page.
      markdown.core.ruler.push('link-examples', ({ tokens }) => {
        for (const { children } of tokens) {
          for (const [index, token] of (children ?? []).entries()) {
            if (token.attrGet('href') === '../../examples/README.md')
              token.attrSet('href', `/examples/${children?.[index + 1]?.content}`);
          }
        }
      });
    },
  },
});
