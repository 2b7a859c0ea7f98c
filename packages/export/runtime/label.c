
const char *model_label(int class_number)
{
  return class_number >= 0 && class_number < CLASSES ? labels[class_number] : 0;
}
