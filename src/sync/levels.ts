import type { SyncSource } from './source.ts';

type Source = SyncSource<{ id: string }>;

/**
 * The names in levels, parents before children. Each source names the segment of its parent, which is looked up among
 * all sources, also those that are not read: bomLines come after products even if boms are not read.
 */
export function inLevels<Name extends string>(
  names: readonly Name[],
  sources: Readonly<Record<string, Source>>,
): readonly (readonly Name[])[] {
  const bySegment = new Map(Object.values(sources).map((source) => [source?.segment, source]));
  const levelOf = (name: Name) => {
    let level = 0;
    let parent = sources[name]?.parent;
    // A source of the caller could name its own child as its parent: a chain is never longer than all sources.
    while (parent !== undefined && bySegment.has(parent) && level < bySegment.size) {
      level += 1;
      parent = bySegment.get(parent)?.parent;
    }
    return level;
  };

  const levels: Name[][] = [];
  for (const name of names) {
    const level = levelOf(name);
    levels[level] = [...(levels[level] ?? []), name];
  }
  // A level of which no collection is read is a hole.
  return levels.filter((level) => level !== undefined);
}
