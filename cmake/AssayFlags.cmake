# Flags that every source of assay is compiled with. The arithmetic depends on
# -ffp-contract=off: a fused multiply-add stands only where it is written.
add_library(assay_flags INTERFACE)
target_compile_definitions(assay_flags INTERFACE _GNU_SOURCE ASSAY_VERSION="${PROJECT_VERSION}")
target_compile_options(assay_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -ffp-contract=off -fno-math-errno)
target_include_directories(assay_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
if(ASSAY_WERROR)
  target_compile_options(assay_flags INTERFACE -Werror)
endif()
if(ASSAY_SANITIZE)
  target_compile_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()
if(ASSAY_FUZZ)
  target_compile_options(assay_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
