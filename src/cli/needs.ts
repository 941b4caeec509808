import type { Command } from 'commander';
import { CommandFailure, EXIT } from './errors.ts';

type Flags = Readonly<Record<string, readonly string[]>>;

/** By command: the flags that have an effect only beside one of others. */
const NEEDS: Readonly<Record<string, Flags>> = {
  discover: { force: ['out'] },
  probe: { force: ['out'], draft: ['write'], yes: ['write'] },
  pull: {
    ...{ tenant: ['to'], schemas: ['to'], full: ['to'], sameCompany: ['to'], verify: ['to'], forget: ['to'] },
    ...{ json: ['to'], yes: ['forget'], maxCandidates: ['full', 'verify'] },
  },
  sandbox: { force: ['write'] },
};

/** By command: the flags that have no effect beside another. */
const USELESS: Readonly<Record<string, Flags>> = {
  pull: {
    ...{
      pagination: ['forget'],
      maxOutage: ['forget'],
      sameCompany: ['forget'],
      schemas: ['forget'],
    },
  },
  sandbox: { seed: ['listOptions'], write: ['listOptions'], port: ['listOptions'], host: ['listOptions'] },
};

/** A flag without an effect looks like one that works. */
export function checkEffects(command: Command): void {
  const isGiven = (name: string) => command.getOptionValueSource(name) === 'cli';
  const flag = (name: string) =>
    command.options.find((option) => option.attributeName() === name)?.long ?? name;
  for (const [name, others] of Object.entries(NEEDS[command.name()] ?? {})) {
    if (!isGiven(name) || others.some(isGiven)) continue;
    const needed = others.map(flag).join(' or ');
    throw noEffect(
      `${flag(name)} has no effect without ${needed}.`,
      `Pass ${needed}, or leave out ${flag(name)}.`,
    );
  }
  for (const [name, others] of Object.entries(USELESS[command.name()] ?? {})) {
    const other = others.find(isGiven);
    if (!isGiven(name) || other === undefined) continue;
    throw noEffect(`${flag(name)} has no effect with ${flag(other)}.`, `Leave out one of them.`);
  }
}

/** What is thrown for a flag without an effect. */
export function noEffect(message: string, advice: string): CommandFailure {
  return new CommandFailure(message, { advice, exitCode: EXIT.usage });
}
