import { inspect } from 'node:util';

/** What a log or a console can show of a value: string, JSON, inspection, clone, and its chain of causes. */
export function shown(value: unknown): string {
  const texts: string[] = [];
  for (let link: unknown = value, depth = 0; link !== undefined && depth < 10; depth += 1) {
    texts.push(...oneShown(link));
    link = link instanceof Error ? link.cause : undefined;
  }
  return texts.join('\n');
}

function oneShown(value: unknown): string[] {
  const texts = [
    attempt(() => String(value)),
    attempt(() => JSON.stringify(value)),
    inspect(value),
    inspect(value, { depth: 10, showHidden: true, getters: true }),
    inspect(value, { depth: 10, customInspect: false, showHidden: true, getters: true }),
    attempt(() => inspect(structuredClone(value), { depth: 10 })),
  ];
  if (value instanceof Error) texts.push(value.message, value.stack ?? '', ...ownValues(value));
  return texts;
}

/** Every own property, enumerable or not. */
function ownValues(value: object): string[] {
  return Reflect.ownKeys(value).map((name) => {
    const member: unknown = attempt(() => Reflect.get(value, name));
    return `${String(name)}: ${inspect(member, { depth: 10, showHidden: true })}`;
  });
}

function attempt<T>(act: () => T): T | string {
  try {
    return act() ?? '';
  } catch (error) {
    return String(error);
  }
}
