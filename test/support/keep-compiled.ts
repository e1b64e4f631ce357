export { keepCompiled as keepDatabaseCompiled } from '../../src/store/embedded/compiled.ts';
