import { Comment, CommentTag, Converter, ReflectionKind } from 'typedoc';

/** The task that an export of the main entry serves, by the folder of its source file. */
const tasks = [
  [/src\/(?:sync|reconcile)\/|src\/errors\/(?:sync|reconcile)-report/, 'Sync'],
  [/src\/push\/|src\/errors\/push-report/, 'Push'],
  [/src\/errors\//, 'Errors'],
  [/src\/pagination\/|src\/collections\/list/, 'Reading'],
  [/src\/collections\/|src\/schemas\/|idempotency-key/, 'Records and writing'],
  [/src\/money/, 'Money'],
];

function taskOf(reflection) {
  const file = reflection.project.getSymbolIdFromReflection(reflection)?.fileName ?? '';
  return tasks.find(([pattern]) => pattern.test(file))?.[1] ?? 'Client';
}

function withoutSchema(type) {
  return type.type === 'conditional' ? withoutSchema(type.falseType) : type;
}

/**
 * Names each module as it is imported, groups the main entry by task, shows the collections of the client with the
 * records that they have without a schema of the caller's, and leaves out constructors and brands of errors, and
 * members with a symbol for a name.
 */
export function load({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      const isMain = module.name === 'index';
      module.name = isMain ? 'accounting-data-sdk' : `accounting-data-sdk/${module.name}`;
      for (const exported of isMain ? (module.children ?? []) : []) {
        exported.comment ??= new Comment();
        exported.comment.blockTags.push(
          new CommentTag('@category', [{ kind: 'text', text: taskOf(exported) }]),
        );
      }
    }
    for (const member of project.getReflectionsByKind(ReflectionKind.ClassMember)) {
      const isOfError = member.parent?.name.endsWith('Error') ?? false;
      // Users catch errors; they do not construct them.
      const isInternal = member.kind === ReflectionKind.Constructor || member.name === 'brand';
      if (member.name.startsWith('[') || (isOfError && isInternal)) {
        project.removeReflection(member);
      }
    }
    for (const client of project.getReflectionsByKind(ReflectionKind.Interface)) {
      if (client.name !== 'Client') continue;
      for (const { type } of client.children ?? []) {
        if (type?.type === 'reference') type.typeArguments = type.typeArguments?.map(withoutSchema);
      }
    }
  });
}
