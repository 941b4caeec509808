import { existsSync, readFileSync } from 'node:fs';
import { type DefaultTheme, defineConfig } from 'vitepress';
import llms from 'vitepress-plugin-llms';
import manifest from '../../../package.json' with { type: 'json' };
import { pages as examples } from '../examples/[name].paths.ts';

const apiSidebar = new URL('../api/typedoc-sidebar.json', import.meta.url);

/** Where the site is published, such as https://docs.example.com: for the sitemap and the links in llms.txt. */
const { SITE_URL } = process.env;

/** The pages of the API reference. TypeDoc writes them before the site is built. */
const [main]: DefaultTheme.SidebarItem[] = existsSync(apiSidebar)
  ? JSON.parse(readFileSync(apiSidebar, 'utf8'))
  : [];
/** The tasks of the main entry have no page of their own; every other entry has one. */
const isEntry = ({ link }: DefaultTheme.SidebarItem) => link !== undefined;
const items = main?.items ?? [];
const api = [
  { text: 'Entries', link: '/api/' },
  ...items.filter((item) => !isEntry(item)),
  { text: 'Other entries', items: items.filter(isEntry) },
];

const guides: DefaultTheme.SidebarItem[] = [
  {
    text: 'Start',
    items: [
      { text: 'First steps', link: '/first-steps' },
      { text: 'Options', link: '/options' },
      { text: 'The service at a glance', link: '/service' },
      { text: 'Frequently asked questions', link: '/faq' },
    ],
  },
  {
    text: 'Read and write',
    items: [
      { text: 'Reading and pagination', link: '/reading' },
      { text: 'Keyset pagination', link: '/keyset-pagination' },
      { text: 'Writing', link: '/writing' },
      { text: 'Product fields', link: '/product-fields' },
      { text: 'Money', link: '/money' },
      { text: 'Errors', link: '/errors' },
    ],
  },
  {
    text: 'Keep data in sync',
    items: [
      { text: 'A copy in a database', link: '/copy-in-a-database' },
      { text: 'Syncing', link: '/syncing' },
      { text: 'Pushing', link: '/pushing' },
    ],
  },
  {
    text: 'Test and operate',
    items: [
      { text: 'Testing', link: '/testing' },
      { text: 'Sandbox options', link: '/sandbox-options' },
      { text: 'The command', link: '/command' },
      { text: 'Running at scale', link: '/running-at-scale' },
      { text: 'Telemetry and logging', link: '/telemetry' },
      { text: 'Proxies', link: '/proxies' },
      { text: 'Security', link: '/security' },
      { text: 'Performance', link: '/performance' },
      { text: 'Versions', link: '/versioning' },
    ],
  },
];

const exampleItems = examples().map(({ name }) => ({ text: name, link: `/examples/${name}` }));

export default defineConfig({
  title: 'accounting-data-sdk',
  description: manifest.description,
  lang: 'en',
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/logo.svg' }],
    ['meta', { name: 'theme-color', content: '#0f766e' }],
  ],
  ...(SITE_URL === undefined ? {} : { sitemap: { hostname: SITE_URL } }),
  outDir: '../../.generated/docs',
  cacheDir: '../../.generated/vitepress',
  cleanUrls: true,
  // The index of the search is one chunk, which is loaded with the first search.
  vite: {
    build: { target: 'es2022', chunkSizeWarningLimit: 2_000 },
    plugins: [
      llms({
        ...(SITE_URL === undefined ? {} : { domain: SITE_URL }),
        injectLLMHint: false,
        ignoreFilesPerOutput: { llmsTxt: ['api/*/**'], llmsFullTxt: ['api/**'] },
        sidebar: () => [...guides, { text: 'Examples', items: exampleItems }],
      }),
    ],
  },
  themeConfig: {
    logo: '/logo.svg',
    nav: [
      { text: 'Guides', link: '/first-steps' },
      { text: 'API', link: '/api/' },
      { text: 'Examples', link: '/examples/' },
      { text: manifest.version, link: '/changelog/' },
    ],
    sidebar: {
      '/api/': api,
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
    // In the repository and in the package a guide links to the files of an example; here it has a page.
    config: (markdown) => {
      markdown.core.ruler.push('link-examples', ({ tokens }) => {
        for (const { children } of tokens) {
          for (const token of children ?? []) {
            const [, name] = /^\.\.\/\.\.\/examples\/([\w-]+)/.exec(token.attrGet('href') ?? '') ?? [];
            if (name !== undefined) token.attrSet('href', `/examples/${name}`);
          }
        }
      });
    },
  },
});
