import { pages } from './[name].paths.ts';

export default { watch: ['../../../examples/README.md'], load: pages };
