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

/** By command: the flags beside which only those named here have an effect. */
const ONLY: Readonly<Record<string, Flags>> = {
  pull: { forget: ['to', 'tenant', 'yes', 'quiet'] },
  sandbox: { listOptions: ['quiet'] },
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
  for (const [name, others] of Object.entries(ONLY[command.name()] ?? {})) {
    const useless = command.options
      .map((option) => option.attributeName())
      .find((other) => isGiven(other) && other !== name && !others.includes(other));
    if (!isGiven(name) || useless === undefined) continue;
    throw noEffect(`${flag(useless)} has no effect with ${flag(name)}.`, 'Leave out one of them.');
  }
}

/** What is thrown for a flag without an effect. */
export function noEffect(message: string, advice: string): CommandFailure {
  return new CommandFailure(message, { advice, exitCode: EXIT.usage });
}
