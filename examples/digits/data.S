# The model and the images, as they are, in read-only memory. MODEL and IMAGES are file names.
    .section .model, "a", %progbits
    .balign 16
    .global model_begin, model_end
model_begin:
    .incbin MODEL
model_end:
    .section .inputs, "a", %progbits
    .balign 16
    .global images_begin, images_end
images_begin:
    .incbin IMAGES
images_end:
    .section .note.GNU-stack, "", %progbits
