/*
 * Glossary
 *   operation  one of the six things offered; a REST route and an MCP tool are two faces of it
 *   caller     the shop, key and scopes behind one request, after the gate let it in
 *   tier       the shop's plan with us; a *plan* is always a selling plan
 *   now        read once per request; every window of the request is measured from it
 *   payload    what an operation answers: the REST body, and the MCP tool's structured content
 */
import type { z } from 'zod';
import type { Scope } from '../access/scopes.ts';
import type { ReadConnections } from '../store/connections/read-connections.ts';
import type { JsonText } from './json-text.ts';

/** On whose behalf an operation runs: what it may know of a caller. */
export interface OperationCaller {
  readonly shopId: number;
  /** The shop's, ISO 4217. */
  readonly currency: string;
  readonly scopes: readonly Scope[];
}

/** A value as a constant states it. */
type Example<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Example<Value[Key]> }
  : Value;

interface OperationContext {
  readonly caller: OperationCaller;
  /** The primary, or a standby that is fresh enough. */
  readonly store: ReadConnections;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** With the types of its input and output, or any where the transports loop over all operations. */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  /** snake_case; the REST operationId is the same in camelCase. */
  readonly tool: string;
  /** Below the REST base path, with parameters in braces. */
  readonly path: string;
  /** The parameter in the path, and the field of the input that it stands for. */
  readonly pathParameter?: { readonly name: string; readonly input: string };
  readonly scope: Scope;
  readonly title: string;
  /** One sentence for people; what is answered. */
  readonly description: string;
  /** For a model that has to choose a tool and fill in its arguments: short, with units and limits. */
  readonly toolDescription: string;
  /** In JSON terms; faces that receive text turn it into JSON terms first. */
  readonly input: Input;
  readonly output: Output;
  /** One believable request and answer, for the reference. */
  readonly example: { readonly input: z.input<Input>; readonly output: Example<z.output<Output>> };
  /** What can go wrong besides what can for every operation. */
  readonly fails: readonly ('invalid' | 'notFound')[];
  /** @param input as `input` has parsed it */
  run(context: OperationContext, input: z.output<Input>): Promise<z.input<Output> | JsonText>;
}

/** Infers the types of an operation. */
export function defineOperation<Input extends z.ZodObject, Output extends z.ZodObject>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation;
}
