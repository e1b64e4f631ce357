/* The command line with one more platform in the registry. */
import { platforms } from '../../src/platforms/registry.ts';
import { stub } from './stub.ts';

platforms.push(stub);
await import('../../src/cli.ts');
