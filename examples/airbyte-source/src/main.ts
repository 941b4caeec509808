// A source of Airbyte: spec, check, discover, read. Without a command: a show on books in memory.

import { parseArgs } from 'node:util';
import { AirbyteMessages } from './airbyte.ts';
import { check, discoverCatalog, readCatalog, spec } from './commands.ts';
import { demo } from './demo.ts';
import { Lines } from './emitter.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { config: { type: 'string' }, catalog: { type: 'string' }, state: { type: 'string' } },
});

function needed(name: 'config' | 'catalog'): string {
  const value = options[name];
  if (value === undefined) throw new Error(`--${name} is missing.`);
  return value;
}

async function run(command: string | undefined, out: AirbyteMessages): Promise<number> {
  switch (command) {
    case undefined:
      return demo();
    case 'spec':
      return spec(out);
    case 'check':
      return check(out, needed('config'));
    case 'discover':
      return discoverCatalog(out, needed('config'));
    case 'read':
      return readCatalog(out, { config: needed('config'), catalog: needed('catalog'), state: options.state });
    default:
      throw new Error(`There is no command ${command}: spec, check, discover or read.`);
  }
}

const out = new AirbyteMessages(new Lines(process.stdout));
try {
  process.exitCode = await run(positionals[0], out);
} catch (error) {
  await out.error(error);
  process.exitCode = 1;
}
