import type { CallerCode } from '../reading/caller-code.ts';
import type { OpenTarget } from './target.ts';

/** Whether the target is one, or made of the functions that the caller gave: messages name these. */
export type TargetNames = 'target' | 'functions';

/** The same target, each of whose methods is called through `code`. */
export function guardedTarget(opened: OpenTarget, code: CallerCode, names: TargetNames): OpenTarget {
  const nameOf = (method: string) => (names === 'target' ? `target.${method}` : method);
  /** A method that may be missing, with its own `this`. */
  const guard = <Args extends readonly unknown[], V>(
    method: string,
    call: ((...args: Args) => V | PromiseLike<V>) | undefined,
    { of = opened, isLast = false }: { of?: object | undefined; isLast?: boolean } = {},
  ) =>
    call && ((...args: Args) => code.run(nameOf(method), () => call.apply(of, [...args] as never), isLast));
  const { store, marks, company, localIds } = opened;
  return {
    store: {
      get: (key) => code.run(nameOf('store.get'), () => store.get(key)),
      set: guard('store.set', store.set, { of: store }),
    },
    onBatch: (batch) => code.run(nameOf('onBatch'), () => opened.onBatch(batch)),
    ...(localIds && {
      localIds: (collection) => code.each(nameOf('localIds'), () => localIds.call(opened, collection)),
    }),
    ...whole({ onDelete: guard('onDelete', opened.onDelete) }),
    marks: marks && {
      count: (collection, read) => code.run(nameOf('marks.count'), () => marks.count(collection, read)),
      unmarked: (collection, read, after) =>
        code.each(nameOf('marks.unmarked'), () => marks.unmarked(collection, read, after)),
    },
    company: company && {
      get: () => code.run(nameOf('company.get'), () => company.get()),
      set: (value) => code.run(nameOf('company.set'), () => company.set(value)),
    },
    ...whole({
      rows: guard('rows', opened.rows),
      replace: guard('replace', opened.replace),
      onEnd: guard('onEnd', opened.onEnd, { isLast: true }),
      forget: guard('forget', opened.forget),
      close: guard('close', opened.close, { isLast: true }),
    }),
  };
}

/** Without the members that are undefined: a method that a target lacks must be missing. */
function whole<V extends object>(members: V): { [Name in keyof V]: Exclude<V[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}
