import { pages } from './[name].paths.ts';

export default { watch: ['../../../README.md'], load: pages };
