import { Converter, ReflectionKind } from 'typedoc';

/**
 * For TypeDoc: modules are called as they are imported, and the properties of the client are shown with the records
 * that they have without a schema of the caller's. The conditional types behind them are nobody's reading.
 */
export function load({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      module.name = module.name === 'index' ? 'accounting-data-sdk' : `accounting-data-sdk/${module.name}`;
    }
    for (const client of project.getReflectionsByKind(ReflectionKind.Interface)) {
      if (client.name !== 'Client') continue;
      for (const { type } of client.children ?? []) {
        if (type?.type !== 'reference') continue;
        type.typeArguments = type.typeArguments?.map(withoutSchema);
      }
    }
  });
}

function withoutSchema(type) {
  return type.type === 'conditional' ? withoutSchema(type.falseType) : type;
}
