# The library: every folder of src/ but cli/. Objects are compiled once and go
# into the static and the shared library and into the tests.
set(assay_parts core tensor model ops engine contract corpus rung gate report api)
set(assay_sources)
foreach(part IN LISTS assay_parts)
  file(GLOB_RECURSE part_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${part}/*.c)
  list(APPEND assay_sources ${part_sources})
endforeach()
file(GLOB kernel_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/*.c)
list(APPEND assay_sources ${kernel_sources})
file(GLOB ref_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/ref/*.c)

add_library(assay_objects OBJECT ${assay_sources})
target_link_libraries(assay_objects PUBLIC assay_flags assay_deps)
set(assay_object_files $<TARGET_OBJECTS:assay_objects>)

# The reference kernels, once per level: the same C, the same bits.
function(assay_kernel_level level)
  add_library(assay_kernels_${level} OBJECT ${ref_sources})
  target_link_libraries(assay_kernels_${level} PUBLIC assay_flags)
  target_compile_definitions(assay_kernels_${level} PRIVATE KERNEL_LEVEL=${level})
  target_compile_options(assay_kernels_${level} PRIVATE -O3 -fno-trapping-math ${ARGN})
  set(assay_object_files ${assay_object_files} $<TARGET_OBJECTS:assay_kernels_${level}> PARENT_SCOPE)
endfunction()
assay_kernel_level(base)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  assay_kernel_level(avx2 -mavx2 -mfma -mf16c)
  assay_kernel_level(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mprefer-vector-width=512)
endif()

# ONNX's schema, written from the specification (src/model/onnx.proto).
if(EXISTS ${CMAKE_SOURCE_DIR}/src/model/onnx.proto)
  set(proto_dir ${CMAKE_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${proto_dir})
  add_custom_command(
    OUTPUT ${proto_dir}/onnx.pb-c.c ${proto_dir}/onnx.pb-c.h
    COMMAND ${ASSAY_PROTOC_C} --c_out=${proto_dir} -I${CMAKE_SOURCE_DIR}/src/model ${CMAKE_SOURCE_DIR}/src/model/onnx.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/src/model/onnx.proto)
  add_library(assay_proto OBJECT ${proto_dir}/onnx.pb-c.c ${proto_dir}/onnx.pb-c.h)
  target_link_libraries(assay_proto PUBLIC PkgConfig::ASSAY_DEPS)
  target_include_directories(assay_proto PUBLIC ${proto_dir})
  target_include_directories(assay_objects PUBLIC ${proto_dir})
  add_dependencies(assay_objects assay_proto)
  list(APPEND assay_object_files $<TARGET_OBJECTS:assay_proto>)
endif()

# What the tests link: every internal symbol visible.
add_library(assay_internal STATIC ${assay_object_files})
target_link_libraries(assay_internal PUBLIC assay_flags assay_deps)
