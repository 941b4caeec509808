import {
  ArrayType,
  IndexedAccessType,
  IntersectionType,
  MappedType,
  OptionalType,
  PredicateType,
  ReferenceType,
  ReflectionFlag,
  ReflectionKind,
  ReflectionType,
  TypeOperatorType,
  UnionType,
} from 'typedoc';

/** Type parameters that the compiler infers from the arguments of a call: no caller writes them. */
const INFERRED = new Set(['C', 'Code', 'Collection', 'Names', 'S']);

/** Helpers whose result depends on such a type parameter. */
const DERIVED = new Set(['RecordIn', 'DraftIn', 'PatchIn']);

/** What callers usually have for such a type, by its name, or by its function and name. */
const USUAL = {
  'isAccountingError.Code': 'AccountingErrorCode',
  'isApiError.Code': 'ApiErrorCode',
  C: 'Client',
  ClientFor: 'Client',
  Collection: 'ReadOnlyCollection',
  'push.Collection': 'WritableCollection',
  'refresh.SyncSource': 'ReadOnlyCollection',
  Names: 'CollectionName',
  S: 'Schemas',
};

/** Whether callers write this type parameter. */
export const isWritten = ({ name }) => !INFERRED.has(name);

/** Shows the types that callers see instead of those that the compiler infers them from. */
export function showUsualTypes(project) {
  const documented = new Map(
    project
      .getReflectionsByKind(ReflectionKind.Interface | ReflectionKind.TypeAlias)
      .map((reflection) => [reflection.name, reflection]),
  );

  const isInferred = (type) =>
    type instanceof ReferenceType && (INFERRED.has(type.name) || DERIVED.has(type.name));

  function usual(type, owner) {
    const inside = (inner) => usual(inner, owner);
    // The union of all errors with the code: a page long.
    if (type instanceof PredicateType && type.targetType instanceof UnionType) {
      const name = owner === 'isApiError' ? 'AnyApiError' : 'AnyAccountingError';
      type.targetType = ReferenceType.createResolvedReference(name, documented.get(name), project);
    }
    if (type instanceof UnionType) type.types = type.types.map(inside);
    if (type instanceof ArrayType) type.elementType = inside(type.elementType);
    if (type instanceof OptionalType) type.elementType = inside(type.elementType);
    if (type instanceof TypeOperatorType) type.target = inside(type.target);
    if (type instanceof IntersectionType && type.types.some(isInferred)) return inside(type.types[0]);
    if (type instanceof IndexedAccessType && type.objectType instanceof MappedType) {
      return withoutArguments(type.objectType.templateType);
    }
    if (!(type instanceof ReferenceType)) return type;
    const name = USUAL[`${owner}.${type.name}`] ?? USUAL[type.name];
    if (name !== undefined) return ReferenceType.createResolvedReference(name, documented.get(name), project);
    const [first] = type.typeArguments ?? [];
    if (type.name === 'BodyOf') return inside(first);
    if (type.name === 'OptionInputs' && first instanceof ReflectionType) return optionsIn(first, owner);
    if (type.typeArguments?.some(isInferred)) return withoutArguments(type);
    type.typeArguments = type.typeArguments?.map(inside);
    return type;
  }

  /** The options that a table of `internal/options.ts` describes. */
  function optionsIn(table, owner) {
    for (const child of table.declaration.children ?? []) {
      if (!(child.type instanceof ReferenceType)) continue;
      child.setFlag(ReflectionFlag.Optional, child.type.name !== 'RequiredOption');
      child.type = usual(child.type.typeArguments[0], owner);
    }
    return table;
  }

  for (const signature of project.getReflectionsByKind(ReflectionKind.SomeSignature)) {
    const kept = signature.typeParameters?.filter(isWritten);
    signature.typeParameters = kept?.length ? kept : undefined;
    if (signature.type !== undefined) signature.type = usual(signature.type, signature.name);
    for (const parameter of signature.parameters ?? []) {
      if (parameter.type !== undefined) parameter.type = usual(parameter.type, signature.name);
    }
  }
  for (const property of project.getReflectionsByKind(ReflectionKind.Property)) {
    if (property.type !== undefined) property.type = usual(property.type, property.parent.name);
  }
}

function withoutArguments(type) {
  if (type instanceof ReferenceType) type.typeArguments = undefined;
  return type;
}
