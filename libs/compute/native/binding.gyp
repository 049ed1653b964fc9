{
  'targets': [{
    # Loaded before TensorFlow is, so it is linked against nothing.
    'target_name': 'retrace_host',
    'sources': ['host.cc'],
    'cflags_cc': ['-Wall', '-Wextra', '-fvisibility=hidden'],
  }, {
    'target_name': 'retrace_ops',
    'sources': [
      'adamw.cc', 'addon.cc', 'attention.cc', 'cached_attention.cc', 'copy_cached.cc', 'linear.cc', 'op.cc', 'parallel.cc',
      'rms_norm.cc', 'sample.cc', 'swi_glu.cc', 'token_distribution.cc',
    ],
    'include_dirs': ['<(tensorflow_include)'],
    'cflags_cc': ['-std=c++17', '-O3', '-fno-trapping-math', '-fno-math-errno', '-ffp-contract=fast', '-Wall', '-Wextra', '-Wno-psabi', '-fvisibility=hidden'],
    # The processor that runs them compiles them; named one by one, because older compilers know no generations.
    'conditions': [
      ['processor=="x86-64-v3" or processor=="x86-64-v4"', {'cflags_cc': ['-mavx2', '-mfma', '-mf16c', '-mbmi', '-mbmi2']}],
      ['processor=="x86-64-v4"', {'cflags_cc': ['-mavx512f', '-mavx512bw', '-mavx512cd', '-mavx512dq', '-mavx512vl']}],
    ],
    'cflags_cc!': ['-fno-exceptions', '-fno-rtti', '-std=gnu++17', '-std=gnu++20'],
    'libraries': ['-L<(tensorflow_lib)', '-l:libtensorflow_cc.so.2', '-l:libtensorflow_framework.so.2', "-Wl,-rpath,'$$ORIGIN/../../deps/lib'", '-pthread'],
  }],
}
