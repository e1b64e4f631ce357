import {
  type IntrospectionInputValue,
  type IntrospectionQuery,
  type IntrospectionType,
  type IntrospectionTypeRef,
  TypeInfo,
  buildClientSchema,
  getNamedType,
  lexicographicSortSchema,
  parse,
  printSchema,
  typeFromAST,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** Enums that the code interprets, whether or not a document reads them. */
const interpreted = ['SubscriptionBillingAttemptErrorCode', 'WebhookSubscriptionTopic'];

/**
 * Reduces a published schema to the types that the documents reach, as SDL. A kept type has those
 * of its fields and arguments whose types are kept, are scalars or are enums; the roots have only
 * the fields that the documents read. Enums are whole.
 * @throws Error if a document is not valid in the schema
 */
export function reduceSchema(
  published: IntrospectionQuery,
  documents: ReadonlyMap<string, string>,
): string {
  const { reached, rootFields } = reach(published, documents);
  const { __schema: whole } = published;
  const { queryType, mutationType } = whole;
  const roots = new Set([queryType.name, mutationType?.name]);
  const types = new Map(
    whole.types.map((type) => {
      if (type.kind !== 'OBJECT' || !roots.has(type.name)) return [type.name, type];
      const fields = type.fields.filter(({ name }) => rootFields.has(name));
      return [type.name, { ...type, fields }];
    }),
  );
  // A set grows while it is read: the members of the members follow.
  for (const name of reached) for (const each of membersOf(types, name)) reached.add(each);
  let kept = filterTypes(types, reached);
  // Some members of unions have no other fields.
  for (let empty = emptyTypes(kept); empty.length > 0; empty = emptyTypes(kept)) {
    for (const name of empty) for (const each of fieldTypes(types, name)) reached.add(each);
    kept = filterTypes(types, reached);
  }
  const schema = buildClientSchema({
    __schema: { ...whole, types: kept, directives: [] },
  });
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** The names of types, and of fields of the roots, that the documents use. */
function reach(published: IntrospectionQuery, documents: ReadonlyMap<string, string>) {
  const schema = buildClientSchema(published);
  const roots = new Set<unknown>([schema.getQueryType(), schema.getMutationType()]);
  const reached = new Set(interpreted);
  const rootFields = new Set<string>();
  for (const [name, text] of documents) {
    const document = parse(text);
    const errors = validate(schema, document);
    if (errors.length > 0) throw new Error(`${name}: ${errors.map(String).join('\n')}`);
    const info = new TypeInfo(schema);
    visit(
      document,
      visitWithTypeInfo(info, {
        enter(node) {
          for (const type of [info.getType(), info.getParentType(), info.getInputType()]) {
            if (type) reached.add(getNamedType(type).name);
          }
          if (node.kind === 'Field' && roots.has(info.getParentType())) {
            rootFields.add(node.name.value);
          }
          if (node.kind !== 'VariableDefinition') return;
          const type = typeFromAST(schema, node.type);
          if (type) reached.add(getNamedType(type).name);
        },
      }),
    );
  }
  return { reached, rootFields };
}

const nameOf = (ref: IntrospectionTypeRef): string =>
  ref.kind === 'LIST' || ref.kind === 'NON_NULL' ? nameOf(ref.ofType) : ref.name;
const isLeaf = (type: IntrospectionType | undefined) =>
  type?.kind === 'SCALAR' || type?.kind === 'ENUM';
const isRequired = ({ type, defaultValue }: IntrospectionInputValue) =>
  type.kind === 'NON_NULL' && (defaultValue ?? null) === null;

/** What a value of an abstract type may be. Nearly every type is a Node. */
function membersOf(types: ReadonlyMap<string, IntrospectionType>, name: string): string[] {
  const type = types.get(name);
  const isAbstract = type?.kind === 'UNION' || (type?.kind === 'INTERFACE' && name !== 'Node');
  return isAbstract ? type.possibleTypes.map(nameOf) : [];
}

function fieldTypes(types: ReadonlyMap<string, IntrospectionType>, name: string): string[] {
  const type = types.get(name);
  if (type?.kind !== 'OBJECT') return [];
  const direct = type.fields.map((field) => nameOf(field.type));
  return direct.flatMap((each) => [each, ...membersOf(types, each)]);
}

const emptyTypes = (types: readonly IntrospectionType[]) =>
  types.filter((type) => type.kind === 'OBJECT' && type.fields.length === 0).map(nameOfType);
const nameOfType = ({ name }: IntrospectionType) => name;

/** The reached types without what refers to others, and the scalars and enums of their fields. */
function filterTypes(
  types: ReadonlyMap<string, IntrospectionType>,
  reached: ReadonlySet<string>,
): IntrospectionType[] {
  const kept = new Set(reached);
  const isKept = (ref: IntrospectionTypeRef) => {
    const name = nameOf(ref);
    if (isLeaf(types.get(name))) kept.add(name);
    return kept.has(name);
  };
  const keep = <T extends { readonly type: IntrospectionTypeRef }>(fields: readonly T[]) =>
    fields.filter(({ type }) => isKept(type)).map((field) => ({ ...field, description: null }));
  const filterType = (type: IntrospectionType): object => {
    switch (type.kind) {
      case 'OBJECT':
      case 'INTERFACE': {
        const fields = keep(type.fields)
          .filter(({ args }) => args.every((arg) => !isRequired(arg) || isKept(arg.type)))
          .map((field) => ({ ...field, args: keep(field.args) }));
        return { fields, interfaces: type.interfaces.filter(isKept) };
      }
      case 'INPUT_OBJECT':
        return { inputFields: keep(type.inputFields) };
      case 'UNION':
        return { possibleTypes: type.possibleTypes.filter(isKept) };
      case 'ENUM':
        return { enumValues: type.enumValues.map((value) => ({ ...value, description: null })) };
      default:
        return {};
    }
  };
  const filtered: IntrospectionType[] = [];
  // Grows meanwhile, by scalars and enums.
  for (const name of kept) {
    const type = types.get(name);
    if (type) filtered.push({ ...type, ...filterType(type), description: null } as typeof type);
  }
  return filtered;
}
