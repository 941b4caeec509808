import pages from './[name].paths.ts';

export default { load: () => pages.paths().map(({ params }) => params.name) };
