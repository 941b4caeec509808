import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import { loadConfig, runBuild } from 'metro';
import type { Service } from '../scenario.ts';
import type { Host } from './host.ts';

declare const runScenario: (service: Service) => Promise<string>;

/** Metro adds modules of this package to each bundle. */
const runtime = fileURLToPath(new URL('../node_modules/metro-runtime', import.meta.url));

/** A bundle by Metro, the bundler of React Native. It runs in the Node that runs the tests. */
export const metroHost: Host = {
  name: 'metro',
  source: 'globalThis.runScenario = scenario;',
  platform: 'node',
  async run(program, service) {
    const projectRoot = dirname(program);
    // Without React Native's Babel preset, Metro itself has to compile `import`.
    const transform = { experimentalImportSupport: true, inlineRequires: false };
    const config = await loadConfig(
      {},
      {
        projectRoot,
        watchFolders: [runtime],
        resolver: { extraNodeModules: { 'metro-runtime': runtime }, useWatchman: false },
        transformer: { getTransformOptions: async () => ({ transform }) },
        cacheStores: [],
        reporter: {
          update(event) {
            // Metro warns and uses `main` if no condition of `exports` matches.
            if (event.type === 'resolver_warning') throw new Error(event.message);
          },
        },
      },
    );
    const { code } = await runBuild(
      { ...config, fileMapCacheDirectory: projectRoot },
      { entry: program, platform: 'ios', dev: false },
    );
    runInThisContext(code);
    return runScenario(service);
  },
};
